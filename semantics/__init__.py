"""What a program means when it runs: values, and the checks made of them."""
