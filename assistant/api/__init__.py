"""HTTP: wire models, who-where-when of a call, routes, and errors in OpenAI's shape."""
