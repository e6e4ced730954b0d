"""How much a question is about what a genome holds."""

from chalicelib.domain.genome.hydration import entry_terms
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.text.terms import query_words


def topic_relevance(query: str, genome: ConversationGenome) -> float:
    """The share of the query's words that the genome knows, 0 to 1; 0 for a query without words."""
    words = query_words(query)
    known = genome_terms(genome)
    return round(sum(not known.isdisjoint(word) for word in words) / len(words), 4) if words else 0.0


def genome_terms(genome: ConversationGenome) -> frozenset[str]:
    """The terms of everything in it."""
    return frozenset(keyword.term for keyword in genome.keywords) | entry_terms(genome)
