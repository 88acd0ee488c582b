"""Tables, figures and the page of the masked-LM study."""
