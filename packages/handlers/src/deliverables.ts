import type { InputOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { Deliverable, Delivery } from '@market/trade/orders'
import type { Generation } from '@market/work/workspaces'
import { typeOfUrl } from './deliverable-type.ts'
import type { OrderFiles } from './order-files.ts'

type DeliverInput = InputOf<Operations['deliverOrder']>

/** The files and links that a delivery names. */
export const referencesIn = ({ deliverable_url: url, deliverables = [] }: DeliverInput): string[] =>
  [url, ...deliverables.map((item) => item.url)].filter((one) => one !== undefined)

export function deliverablesOf(
  input: DeliverInput,
  files: Pick<OrderFiles<unknown>, 'uploadOf' | 'urlOf'>,
): Deliverable[] {
  const { deliverable_url: url, deliverable_media_type: mediaType, deliverables } = input
  if ((url === undefined) === (deliverables === undefined))
    throw new ApiError('invalid', 'Send either deliverable_url or deliverables.', {
      details: [
        {
          path: 'deliverables',
          message: 'must be present if deliverable_url is absent, and absent otherwise',
        },
      ],
    })
  if (deliverables !== undefined) return deliverables.map((item) => deliverableOf(item, files))
  assert(url !== undefined, 'one of the two forms is given')
  const file = fileOf(url, files)
  // The extension of a text says more than its media type: code or document.
  const known = file.media_type === 'text/plain' ? undefined : (file.media_type ?? mediaType)
  const given = mediaType !== undefined && { media_type: mediaType }
  return [{ type: typeOfUrl(file.url ?? url, known), ...given, ...file }]
}

/** One deliverable, as the agent answers a generation. */
export const deliverableOf = (
  item: Deliverable,
  files: Pick<OrderFiles<unknown>, 'uploadOf' | 'urlOf'>,
): Deliverable => ({ ...item, ...fileOf(item.url, files) })

/** For an upload, what we know of its file counts, not what the caller says. */
function fileOf(
  reference: string | undefined,
  { uploadOf, urlOf }: Pick<OrderFiles<unknown>, 'uploadOf' | 'urlOf'>,
): Pick<Deliverable, 'url' | 'media_type' | 'sha256'> {
  if (reference === undefined) return {}
  const upload = uploadOf(reference)
  const known = upload && { media_type: upload.mediaType, sha256: upload.sha256 }
  return { url: urlOf(reference), ...known }
}

export const presentItem = (item: Deliverable, linkOf: (url: string) => string) => ({
  type: item.type,
  url: item.url === undefined ? null : linkOf(item.url),
  content: item.content ?? null,
  media_type: item.media_type ?? null,
  sha256: item.sha256 ?? null,
  title: item.title ?? null,
})

export const presentDelivery = ({ n, note, at, items }: Delivery, linkOf: (url: string) => string) => ({
  n,
  note,
  at: at.toISOString(),
  deliverables: items.map((item) => presentItem(item, linkOf)),
})

export const presentGeneration = (generation: Generation, linkOf: (url: string) => string) => ({
  id: generation.id,
  prompt: generation.prompt,
  status: generation.status,
  deliverable: generation.status === 'completed' ? presentItem(generation.item, linkOf) : null,
  failure: generation.status === 'failed' ? generation.failure : null,
  deadline: generation.deadline.toISOString(),
  created_at: generation.createdAt.toISOString(),
  ended_at: generation.status === 'pending' ? null : generation.endedAt.toISOString(),
})
