import type { Deliverable } from '@market/trade/orders'
import type { Generation } from '@market/work/workspaces'

export const presentItem = (item: Deliverable) => ({
  type: item.type,
  url: item.url ?? null,
  content: item.content ?? null,
  media_type: item.media_type ?? null,
  sha256: item.sha256 ?? null,
  title: item.title ?? null,
})

export const presentGeneration = (generation: Generation) => ({
  id: generation.id,
  prompt: generation.prompt,
  status: generation.status,
  deliverable: generation.status === 'completed' ? presentItem(generation.item) : null,
  failure: generation.status === 'failed' ? generation.failure : null,
  deadline: generation.deadline.toISOString(),
  created_at: generation.createdAt.toISOString(),
  ended_at: generation.status === 'pending' ? null : generation.endedAt.toISOString(),
})
