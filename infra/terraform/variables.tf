variable "name" {
  description = "What everything is named by, one for each deployment."
  type        = string
  default     = "vitto-memory"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,38}$", var.name))
    error_message = "The name has at most 39 lower-case letters, digits and hyphens: ElastiCache takes no others."
  }
}

variable "aws_region" {
  description = "AWS region of the functions, of the Valkey and of the cluster."
  type        = string
}

variable "vpc_id" {
  description = "VPC of the functions and of the Valkey."
  type        = string
}

variable "subnet_ids" {
  description = "Private subnets in it, in two zones or more, with a way out to the embedding server."
  type        = list(string)

  validation {
    condition     = length(var.subnet_ids) >= 2
    error_message = "Two subnets are needed, in two zones."
  }
}

variable "atlas_project_id" {
  description = "Atlas project, which exists. Its keys are in MONGODB_ATLAS_PUBLIC_KEY and MONGODB_ATLAS_PRIVATE_KEY."
  type        = string
}

variable "cluster_size" {
  description = "Tier of the cluster; M10 is the smallest with private endpoints."
  type        = string
  default     = "M10"
}

variable "database" {
  description = "Database, as VITTO_MONGO_DATABASE names it."
  type        = string
  default     = "vitto"
}

variable "private_endpoint" {
  description = "Whether MongoDB is reached through the VPC alone. Without it, outbound_address is let in."
  type        = bool
  default     = true
}

variable "outbound_address" {
  description = "Without a private endpoint, the address from which the functions reach MongoDB: that of the VPC's NAT gateway."
  type        = string
  default     = ""

  validation {
    condition     = var.private_endpoint || var.outbound_address != ""
    error_message = "Without a private endpoint MongoDB has to let in an outbound_address."
  }
}

variable "node_type" {
  description = "Type of the Valkey's nodes; a micro one has no room for vector search."
  type        = string
  default     = "cache.t4g.small"
}

variable "nodes" {
  description = "Nodes of the Valkey; two or more take over from one another."
  type        = number
  default     = 1
}

variable "embedding_api_key" {
  description = "Key of the embedding server, which goes into the secret."
  type        = string
  sensitive   = true
}
