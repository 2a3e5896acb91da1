"""Files that hold other files, or that are more than they seem: archives, office documents, PDFs and pictures."""
