2:[["children",{"s":"__PAGE__","h":160}]]
1:[["children",{"s":"other","h":96,"c":"$Q2"}]]
0:{"b":"pwNGAwr2R4S4fYhZNSAJW","t":{"t":{"s":"","h":80,"c":"$Q1"}}}
