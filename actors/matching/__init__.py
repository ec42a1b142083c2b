"""Which events of several sources are one match. Pure: knows neither the board nor the operator."""
