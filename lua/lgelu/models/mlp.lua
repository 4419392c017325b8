--- mlp: flatten, then linear + gate (+ dropout) for each hidden layer, then a linear layer to the classes.
return {
  doc = "Multi-layer perceptron: a gate after each hidden layer.",
  schema = {
    { key = "hidden", type = "list", items = "integer", min = 1, default = { 512, 256, 128 },
      example = "model.hidden={64,64}",
      doc = "Units of the hidden layers, from the input on; {} gives a linear model." },
    { key = "dropout", type = "number", min = 0, exclusive_max = 1, default = 0, example = "model.dropout=0.1",
      doc = "Probability with which a hidden unit is zeroed in training, after its gate." },
    { key = "bias", type = "boolean", default = true, example = "model.bias=false",
      doc = "Whether linear layers have biases." },
  },
  build = function(nn, x, options, info)
    x = nn:flatten(x)
    for i, units in ipairs(options.hidden) do
      x = nn:linear(x, units, { name = "fc" .. i, bias = options.bias })
      x = nn:gate(x, { name = "gate" .. i })
      if options.dropout > 0 then x = nn:dropout(x, options.dropout) end
    end
    return nn:linear(x, info.classes, { name = "fc" .. #options.hidden + 1, bias = options.bias })
  end,
}
