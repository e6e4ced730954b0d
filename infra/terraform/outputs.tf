locals {
  addresses = data.mongodbatlas_advanced_cluster.memory.connection_strings
  mongo_srv = var.private_endpoint ? local.addresses.private_endpoint[0].srv_connection_string : local.addresses.standard_srv
  login     = "${mongodbatlas_database_user.functions.username}:${random_password.mongo.result}"
}

output "secret" {
  description = "What the secret holds, as the template and VITTO_MONGO_URI, VITTO_REDIS_URL and VITTO_EMBEDDING_API_KEY refer to it."
  sensitive   = true
  value = jsonencode({
    mongoUri        = "${replace(local.mongo_srv, "mongodb+srv://", "mongodb+srv://${local.login}@")}/?retryWrites=true&w=majority"
    redisUrl        = "rediss://${aws_elasticache_replication_group.redis.primary_endpoint_address}:6379/0"
    embeddingApiKey = var.embedding_api_key
  })
}

output "parameters" {
  description = "What the template is given, beside what else it takes."
  value       = "Network=given SubnetIds=${join(",", var.subnet_ids)} SecurityGroupIds=${aws_security_group.functions.id}"
}
