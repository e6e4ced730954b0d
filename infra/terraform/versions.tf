# What a deployment keeps its memories in: MongoDB on Atlas and a Valkey on ElastiCache. The functions are the template's
# (infra/template.json); the outputs are what it and its secret are given.
terraform {
  required_version = ">= 1.9"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.0, < 7.0"
    }
    mongodbatlas = {
      source  = "mongodb/mongodbatlas"
      version = ">= 2.0, < 3.0"
    }
    random = {
      source  = "hashicorp/random"
      version = ">= 3.6, < 4.0"
    }
  }
}

provider "aws" {
  region = var.aws_region
}
