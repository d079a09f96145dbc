1:[["children",{"s":"__PAGE__","h":160}]]
0:{"b":"pwNGAwr2R4S4fYhZNSAJW","t":{"t":{"s":"","h":80,"c":"$Q1"}}}
