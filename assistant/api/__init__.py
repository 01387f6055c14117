"""HTTP: requests and replies, who-where-when of a call, routes, and errors in OpenAI's shape."""
