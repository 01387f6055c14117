"""Examples of the OpenAPI document. Ann tells about Ghent and Bruges in May 2023 and asks in June;
the tests send every example and compare what comes back."""
