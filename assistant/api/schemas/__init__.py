"""What replies look like, for the OpenAPI document. Replies are built as plain JSON and not checked
against these while serving; the tests do."""
