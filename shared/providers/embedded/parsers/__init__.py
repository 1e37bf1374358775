"""One module per file format; each turns a file into blocks of text and knows nothing of the rest."""
