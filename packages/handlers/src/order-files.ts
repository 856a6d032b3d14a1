import { type Context, type Needs, nameOf } from '@market/core/context'
import { CommitThenReject, type Tx } from '@market/database/transact'
import {
  type FileOwner,
  type FileUse,
  fileUrl,
  findOwnUploads,
  signFileUrl,
  type Upload,
  useUploads,
} from '@market/files/uploads'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { findOrder } from '@market/trade/orders'

type FilesContext = Needs<'db' | 'transact' | 'clock' | 'filesUrl' | 'actor'>

export interface OrderFiles<Ctx> {
  /** The context of the command: its first transaction marks the uploads as used. */
  readonly ctx: Ctx
  /** Undefined for a link to another host. */
  readonly uploadOf: (reference: string) => Upload | undefined
  /** What the order stores: the address of the upload, or the link as it is. */
  readonly urlOf: (reference: string) => string
}

/** Resolves the uploads that a request refers to, which must be the caller's own. */
export async function withUploads<Ctx extends FilesContext>(
  ctx: Ctx,
  references: readonly string[],
  /** The use by what the command returned; undefined where that refers to nothing. */
  useOf: (made: unknown, tx: Tx) => FileUse | undefined | Promise<FileUse>,
): Promise<OrderFiles<Ctx>> {
  const owner = nameOf(ctx.actor) as FileOwner
  const found = await findOwnUploads(ctx, owner, references)
  const uploadOf = (reference: string) => found.get(reference)
  const urlOf = (reference: string) => {
    const upload = uploadOf(reference)
    if (upload !== undefined) return fileUrl(ctx.filesUrl, upload)
    if (reference.startsWith('http:')) throw notHttps(reference)
    return reference
  }
  if (found.size === 0) return { ctx, uploadOf, urlOf }
  let isMarked = false
  const transact: Context['transact'] = async (work) => {
    let isUsed = false
    const result = await ctx.transact(async (tx) => {
      // First the command, which checks that the caller may act on the order.
      const made = await work(tx)
      const use = isMarked || made instanceof CommitThenReject ? undefined : await useOf(made, tx)
      if (use !== undefined) await useUploads(ctx, tx, owner, found.values(), use)
      isUsed = use !== undefined
      return made
    })
    isMarked ||= isUsed
    return result
  }
  return { ctx: { ...ctx, transact }, uploadOf, urlOf }
}

const notHttps = (reference: string): ApiError =>
  new ApiError(
    'invalid',
    `${reference} is not a file of this marketplace. Send an https:// URL or the id of an upload.`,
    {
      details: [{ path: 'url', message: 'must be an https:// URL or an upload' }],
    },
  )

/** The use of files by the order or bounty that the command made. */
export const usedBy =
  (use: Omit<FileUse, 'subject'>) =>
  (made: unknown): FileUse => ({ ...use, subject: (made as { readonly id: FileUse['subject'] }).id })

/** Resolves the uploads that an agent delivers. They are private when the order is. */
export const withDeliveredFiles = <Ctx extends FilesContext>(
  ctx: Ctx,
  orderId: OrderId,
  references: readonly string[],
): Promise<OrderFiles<Ctx>> =>
  withUploads(ctx, references, async (_, tx) => ({
    subject: orderId,
    usedFor: 'deliverable',
    isPrivate: (await findOrder(tx, orderId)).isPrivate,
  }))

/** How the files of an order are shown to callers who may read it: links to private ones work for 15 minutes. */
export const linksOf =
  (ctx: Needs<'vault' | 'clock' | 'filesUrl'>, { isPrivate }: { readonly isPrivate: boolean }) =>
  (url: string): string =>
    isPrivate ? signFileUrl(ctx, url) : url
