def agent(obs, config):
    return max(c for c in range(config["columns"]) if obs["board"][c] == 0)
