"""Language models: the protocol, and the gateway to them."""
