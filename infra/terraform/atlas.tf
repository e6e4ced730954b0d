# The indexes, that of the vector search too, are made by `vitto indexes`, from the code that queries them.
locals {
  atlas_region = upper(replace(var.aws_region, "-", "_"))
}

resource "mongodbatlas_advanced_cluster" "memory" {
  project_id     = var.atlas_project_id
  name           = var.name
  cluster_type   = "REPLICASET"
  backup_enabled = true

  replication_specs = [{
    region_configs = [{
      provider_name = "AWS"
      region_name   = local.atlas_region
      priority      = 7
      electable_specs = {
        instance_size = var.cluster_size
        node_count    = 3
      }
    }]
  }]

  lifecycle {
    prevent_destroy = true
  }
}

resource "random_password" "mongo" {
  length  = 40
  special = false
}

resource "mongodbatlas_database_user" "functions" {
  project_id         = var.atlas_project_id
  username           = var.name
  password           = random_password.mongo.result
  auth_database_name = "admin"

  roles {
    role_name     = "readWrite"
    database_name = var.database
  }

  scopes {
    name = mongodbatlas_advanced_cluster.memory.name
    type = "CLUSTER"
  }
}

resource "mongodbatlas_project_ip_access_list" "functions" {
  count      = var.private_endpoint ? 0 : 1
  project_id = var.atlas_project_id
  ip_address = var.outbound_address
  comment    = "Functions of ${var.name}"
}

resource "mongodbatlas_privatelink_endpoint" "memory" {
  count         = var.private_endpoint ? 1 : 0
  project_id    = var.atlas_project_id
  provider_name = "AWS"
  region        = var.aws_region
}

resource "aws_security_group" "mongo_endpoint" {
  count       = var.private_endpoint ? 1 : 0
  name        = "${var.name}-mongo"
  description = "The way to MongoDB: from the functions"
  vpc_id      = var.vpc_id

  ingress {
    description     = "Ports of a private endpoint of Atlas"
    protocol        = "tcp"
    from_port       = 1024
    to_port         = 65535
    security_groups = [aws_security_group.functions.id]
  }
}

resource "aws_vpc_endpoint" "mongo" {
  count              = var.private_endpoint ? 1 : 0
  vpc_id             = var.vpc_id
  service_name       = mongodbatlas_privatelink_endpoint.memory[0].endpoint_service_name
  vpc_endpoint_type  = "Interface"
  subnet_ids         = var.subnet_ids
  security_group_ids = [aws_security_group.mongo_endpoint[0].id]
}

resource "mongodbatlas_privatelink_endpoint_service" "memory" {
  count               = var.private_endpoint ? 1 : 0
  project_id          = var.atlas_project_id
  private_link_id     = mongodbatlas_privatelink_endpoint.memory[0].private_link_id
  endpoint_service_id = aws_vpc_endpoint.mongo[0].id
  provider_name       = "AWS"
}

# Read again once the endpoint is there: only then the cluster knows its private address.
data "mongodbatlas_advanced_cluster" "memory" {
  project_id = var.atlas_project_id
  name       = mongodbatlas_advanced_cluster.memory.name
  depends_on = [mongodbatlas_privatelink_endpoint_service.memory]
}
