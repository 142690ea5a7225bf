"""The paper's experiments: what a TOML file asks for, run on cached features, written down, reported."""
