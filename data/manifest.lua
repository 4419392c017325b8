-- Data sets made of files that lgelu reads: what they are called, what they hold, whose they are, where to get them.
-- No payload is here. sha256 and bytes are those of a file's content, unpacked when it is gzipped, so that they hold
-- for Debian's package and for the authors' own files alike, whose gzip headers differ. Read by lgelu.data.manifest.
--   folders   names under which the set's folder is looked for, the first being what `lgelu data get` makes
--   download  url = base .. file .. suffix; debian: the package that brings the same files
return {
  fashion_mnist = {
    title = "Fashion-MNIST: 70,000 grey images of clothing, 28×28, 10 classes",
    licence = "MIT (Expat), © 2017 Zalando SE",
    folders = { "fashion-mnist", "fashion_mnist" },
    home = "https://github.com/zalandoresearch/fashion-mnist",
    download = { base = "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/", suffix = ".gz" },
    debian = "dataset-fashion-mnist",
    files = {
      { name = "train-images-idx3-ubyte", bytes = 47040016,
        sha256 = "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888" },
      { name = "train-labels-idx1-ubyte", bytes = 60008,
        sha256 = "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9" },
      { name = "t10k-images-idx3-ubyte", bytes = 7840016,
        sha256 = "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b" },
      { name = "t10k-labels-idx1-ubyte", bytes = 10008,
        sha256 = "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34" },
    },
  },
}
