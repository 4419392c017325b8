-- Data sets made of files that lgelu reads: what they are called, what they hold, whose they are, where to get them.
-- No payload is here. sha256 and bytes are those of a file's content, unpacked when it is gzipped, so that they hold
-- for Debian's package and for the authors' own files alike, whose gzip headers differ. Read by lgelu.data.manifest.
--   folders   names under which the set's folder is looked for, the first being what `lgelu data get` makes
--   download  url = base .. file .. suffix, or one archive (.tar.gz) with its sha256 and the folder in it, top;
--             debian: the package that brings the same files; no download: nobody offers these very bytes
--   synthetic  the source that takes its place without files (default synthetic)
--   by_hand   a line on what the files hold, for who makes them by hand
--   copies    of a file: other contents that hold the same data, with a note that says how they differ
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
  -- The author of the CIFAR sets publishes md5 sums of the archives (c32a1d4ab5d03f1284b67883e8d87530 of CIFAR-10,
  -- 03b5dce01913d631647c71ecec9e9cb8 of CIFAR-100). The sha256 sums of the archives and of the files in them are those
  -- by which other projects check the same downloads (the files': torch.rb); we have not computed them ourselves.
  cifar10 = {
    title = "CIFAR-10: 60,000 colour images, 32×32, 10 classes",
    licence = "none stated",
    folders = { "cifar-10-batches-bin", "cifar10" },
    home = "https://www.cs.toronto.edu/~kriz/cifar.html",
    download = { archive = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", top = "cifar-10-batches-bin",
      sha256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd" },
    files = {
      { name = "data_batch_1.bin", bytes = 30730000,
        sha256 = "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5" },
      { name = "data_batch_2.bin", bytes = 30730000,
        sha256 = "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed" },
      { name = "data_batch_3.bin", bytes = 30730000,
        sha256 = "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67" },
      { name = "data_batch_4.bin", bytes = 30730000,
        sha256 = "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48" },
      { name = "data_batch_5.bin", bytes = 30730000,
        sha256 = "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add" },
      { name = "test_batch.bin", bytes = 30730000,
        sha256 = "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b" },
    },
  },
  cifar100 = {
    title = "CIFAR-100: 60,000 colour images, 32×32, 100 classes in 20 groups",
    licence = "none stated",
    folders = { "cifar-100-binary", "cifar100" },
    home = "https://www.cs.toronto.edu/~kriz/cifar.html",
    download = { archive = "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz", top = "cifar-100-binary",
      sha256 = "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec" },
    -- The copies were put together from other publications of the same images and labels, whose order was lost: their
    -- records are sorted by content. Numbers of single rows, and splits drawn from them, differ from the download's.
    files = {
      { name = "train.bin", bytes = 153700000,
        sha256 = "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29",
        copies = { { sha256 = "5131810d4fd88f6b9a7b8ba02de24536e87d790aaded49af484bf51d4c91ef61",
          note = "as a copy in the manifest: all records, in another order than in the download" } } },
      { name = "test.bin", bytes = 30740000,
        sha256 = "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a",
        copies = { { sha256 = "54057aa836d9d58ed9563e46fc2e76368945758202ea37f78da73dbdb48a5843",
          note = "as a copy in the manifest: all records, in another order than in the download" } } },
    },
  },
  -- The sums are those of the archive's files as other projects state them; ours were gathered from a copy.
  adult = {
    title = "Adult: 48,842 rows of the 1994 US census, income above 50K or not",
    licence = "CC BY 4.0",
    folders = { "adult" },
    synthetic = "synthetic_table",
    home = "https://archive.ics.uci.edu/dataset/2/adult",
    download = { base = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/", suffix = "" },
    files = {
      { name = "adult.data", bytes = 3974305,
        sha256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d" },
      { name = "adult.test", bytes = 2003153,
        sha256 = "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05" },
    },
  },
  -- GLUE's archive has the same rows with a blank behind each sentence, and no labels in test.tsv. These are a copy
  -- with the test labels of the treebank; there is no archive of just these bytes.
  sst2 = {
    title = "SST-2: 67,349 training phrases of film reviews, 872 and 1,821 sentences to validate and test",
    licence = "none stated",
    folders = { "sst2", "SST-2" },
    synthetic = "synthetic_sentences",
    home = "https://nlp.stanford.edu/sentiment/",
    by_hand = "columns sentence and label (0 or 1) between tabs, with a header, in GLUE's order, labels in test.tsv",
    files = {
      { name = "train.tsv", bytes = 3738731,
        sha256 = "c75796b01672b41c38cd4b35f4ff1ade88ca79b7577f3926e01ff69739d85ec9" },
      { name = "dev.tsv", bytes = 94415,
        sha256 = "f7271f7a919ea884ca8563e13ed03028aa44296d1f738c003af3142b9a2188f8" },
      { name = "test.tsv", bytes = 193577,
        sha256 = "1da6e04ccd65c1ade32864afa62129b3b3d5df0f1b314961ec345af304274093" },
    },
  },
  tinyshakespeare = {
    title = "Shakespeare's plays, 1.1 million characters of them (tiny Shakespeare)",
    licence = "public domain",
    folders = { "text/tinyshakespeare", "tinyshakespeare" },
    synthetic = "synthetic_text",
    home = "https://github.com/karpathy/char-rnn",
    download = { base = "https://github.com/karpathy/char-rnn/raw/master/data/tinyshakespeare/", suffix = "" },
    files = {
      { name = "input.txt", bytes = 1115394,
        sha256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed" },
    },
  },
}
