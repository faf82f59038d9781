"""What the worker is said to do with a cut's start; nothing here is the product's code."""


def cut_of(row_length, total_tokens):
    return {"prefix_start": row_length - total_tokens}
