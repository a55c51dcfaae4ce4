vault { address = "https://vault.example:8200" }

auto_auth {
  method "approle" {
    config = {
      role_id_file_path   = "/etc/postern/role-id"
      secret_id_file_path = "/etc/postern/secret-id"
    }
  }
}

template {
  contents    = "{{ with secret \"secret/data/postern\" }}{{ .Data.data.openai }}{{ end }}"
  destination = "/run/postern/openai"
  perms       = "0600"
}

template {
  contents    = "{{ with secret \"secret/data/postern\" }}{{ .Data.data.app_key }}{{ end }}"
  destination = "/run/postern/app-key"
  perms       = "0600"
}

template {
  contents    = "{{ with secret \"database/creds/postern\" }}postgres://{{ .Data.username }}:{{ .Data.password }}@db.example:5432/postern?sslmode=verify-full{{ end }}"
  destination = "/run/postern/store"
  perms       = "0600"
}
