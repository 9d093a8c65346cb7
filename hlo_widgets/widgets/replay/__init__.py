"""The fusions of a record, step by step: a picture of the moment, words and the queue."""
