--- cnn: stages of 3×3 convolution, normalization, gate and 2×2 maximum pooling, then linear layers to the classes.
return {
  doc = "Small convolutional network: a gate in each stage and after each hidden layer.",
  schema = {
    { key = "channels", type = "list", items = "integer", min = 1, max = 4096, default = { 16, 32 },
      example = "model.channels={8,16,32}", doc = "Channels of the stages; each stage halves the image." },
    { key = "hidden", type = "list", items = "integer", min = 1, default = { 128 }, example = "model.hidden={64}",
      doc = "Units of the hidden layers behind the stages; {} for none." },
  },
  build = function(nn, x, options, info)
    x = nn:channels_last(x)
    for i, channels in ipairs(options.channels) do
      x = nn:scope("stage" .. i, function()
        local y = nn:conv2d(x, channels, { kernel = 3, padding = 1, bias = false, init = "he_normal", name = "conv" })
        y = nn:gate(nn:batch_norm(y, { name = "bn" }), { name = "gate" })
        return nn:max_pool(y, 2, { name = "pool" })
      end)
    end
    x = nn:flatten(x)
    for i, units in ipairs(options.hidden) do
      x = nn:gate(nn:linear(x, units, { name = "fc" .. i }), { name = "gate" .. i })
    end
    return nn:linear(x, info.classes, { name = "fc" .. #options.hidden + 1 })
  end,
}
