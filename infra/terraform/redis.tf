# The index and the cache. Node-based and of Valkey 8.2, since serverless caches and earlier versions have no vector search;
# what is in it can be rebuilt from MongoDB, so nothing is backed up.
resource "aws_security_group" "functions" {
  name        = "${var.name}-functions"
  description = "Functions of ${var.name}: nothing comes in"
  vpc_id      = var.vpc_id

  egress {
    description = "MongoDB, the Valkey, the embedding server, AWS"
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_security_group" "redis" {
  name        = "${var.name}-redis"
  description = "Valkey of ${var.name}: its port, from the functions"
  vpc_id      = var.vpc_id

  ingress {
    description     = "From the functions"
    protocol        = "tcp"
    from_port       = 6379
    to_port         = 6379
    security_groups = [aws_security_group.functions.id]
  }
}

resource "aws_elasticache_subnet_group" "redis" {
  name       = var.name
  subnet_ids = var.subnet_ids
}

resource "aws_elasticache_parameter_group" "redis" {
  name   = var.name
  family = "valkey8"

  parameter {
    name  = "maxmemory-policy"
    value = "noeviction"
  }

  parameter {
    name  = "reserved-memory-percent"
    value = "30"
  }
}

resource "aws_elasticache_replication_group" "redis" {
  replication_group_id       = var.name
  description                = "Index and cache of ${var.name}"
  engine                     = "valkey"
  engine_version             = "8.2"
  node_type                  = var.node_type
  num_cache_clusters         = var.nodes
  automatic_failover_enabled = var.nodes > 1
  multi_az_enabled           = var.nodes > 1
  parameter_group_name       = aws_elasticache_parameter_group.redis.name
  subnet_group_name          = aws_elasticache_subnet_group.redis.name
  security_group_ids         = [aws_security_group.redis.id]
  transit_encryption_enabled = true
  at_rest_encryption_enabled = true
}
