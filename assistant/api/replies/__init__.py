"""What replies look like: one model a shape, built from what the memory has by its `of`, and
described by the same model in the OpenAPI document."""
