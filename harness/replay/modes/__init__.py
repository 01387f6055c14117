"""The ways in which a history reaches an assistant: recorded, chatted, or laid into the prompt."""
