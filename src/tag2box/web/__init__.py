"""The studio: a page on this machine, on which a person looks through a run and says what is wrong."""
