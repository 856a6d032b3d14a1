import type { Needs } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { BountyId, OrderId, UploadId } from '@market/kernel/ids'
import { uploadIdIn } from './file-link.ts'
import { findStored, insertUses, markReferencesDeleting, saveUsed } from './store.ts'
import type { FileOwner, Upload } from './upload.ts'

/** What an order says of a file: the id of an upload, its URL, or the URL of a page elsewhere. */
export type FileReference = string

/** What refers to a file: the id of an order, a bounty or a purchase. */
type UseSubject = OrderId | BountyId | `hir_${string}`

export interface FileUse {
  readonly subject: UseSubject
  readonly usedFor: 'reference' | 'deliverable'
  readonly isPrivate: boolean
}

/** The upload that a reference names; undefined for the URL of another host, which is stored as a link. */
export const uploadIdOf = (filesUrl: string, reference: FileReference): UploadId | undefined =>
  reference.startsWith('upl_') ? (reference as UploadId) : uploadIdIn(filesUrl, reference)

/**
 * Finds the uploads that references name. Each must belong to the caller: a URL of somebody else's file would give
 * its reader access to a private one.
 */
export async function findOwnUploads(
  ctx: { readonly db: Db } & Needs<'filesUrl'>,
  owner: FileOwner,
  references: readonly FileReference[],
): Promise<ReadonlyMap<FileReference, Upload>> {
  const named = references.flatMap((reference) => {
    const id = uploadIdOf(ctx.filesUrl, reference)
    return id === undefined ? [] : [{ reference, id }]
  })
  const found = await findStored(
    ctx.db,
    named.map(({ id }) => id),
  )
  return new Map(
    named.map(({ reference, id }) => {
      const upload = found.find((one) => one.id === id && one.owner === owner)
      if (upload === undefined) throw uploadNotFound(reference)
      return [reference, upload]
    }),
  )
}

/** Keeps the uploads from the sweep, in the transaction of the order that refers to them. */
export async function useUploads(
  ctx: Needs<'clock'>,
  tx: Tx,
  owner: FileOwner,
  uploads: Iterable<Upload>,
  use: FileUse,
): Promise<void> {
  const all = [...new Map([...uploads].map((one) => [one.id, one])).values()]
  if (all.length === 0) return
  const ids = all.map(({ id }) => id)
  const count = await saveUsed(tx, owner, ids, { ...use, at: ctx.clock.now() })
  if (count === ids.length) return insertUses(tx, ids, use.subject)
  const now = await findStored(tx, ids)
  const missing = ids.find((id) => !now.some((one) => one.id === id))
  throw missing === undefined ? privacyDiffers(use) : uploadNotFound(missing)
}

/** Takes the files out of use that buyers referred to. What their agents delivered belongs to the order. */
export const eraseReferences = (tx: Tx, owners: readonly FileOwner[]): Promise<void> =>
  markReferencesDeleting(tx, owners)

const uploadNotFound = (reference: string): ApiError =>
  new ApiError(
    'not_found',
    `${JSON.stringify(reference)} is not a file that you uploaded, or it was deleted because nothing referred to it for 24 hours. Upload it again.`,
    { code: 'upload_not_found' },
  )

const privacyDiffers = ({ isPrivate }: FileUse): ApiError =>
  new ApiError(
    'conflict',
    isPrivate
      ? 'The file is part of an order that is not private, so its URL may be known. Upload it again for this order.'
      : 'The file is part of a private order. Upload it again for this order.',
    { code: 'upload_used_elsewhere' },
  )
