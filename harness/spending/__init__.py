"""What calls of models take: counted, priced, forecast, held to a budget."""
