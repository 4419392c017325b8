--- The data sources, in the order in which people see them; the only list of them. Each is one file
-- lgelu/data/<name>.lua that returns
--   doc     one line
--   kind    "files" or "generated"
--   manifest  the set of data/manifest.lua that it reads, where that has another name; may be missing
--   own_validation  true: its files say what is for validation, and there is no key data.validation; may be missing
--   schema  list of entries as in lgelu.recipe.schema: the keys of `data = {source = "<name>", …}`
--           (sources of images: with those of lgelu.data.augment)
--   problem function(config) → "key: what is wrong", or nil: what the schema cannot say; may be missing
--   load    function(config with every key filled in) → set, without what lgelu.data adds (see lgelu.data.load)
return {
  "fashion_mnist", "cifar10", "cifar100", "idx", "synthetic", "moons", "text", "synthetic_text", "csv", "adult",
  "synthetic_table", "sst2", "synthetic_sentences",
}
