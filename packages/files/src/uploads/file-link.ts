import { timingSafeEqual } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { MINUTE, SECOND } from '@market/kernel/clock'
import type { UploadId } from '@market/kernel/ids'
import type { Upload } from './upload.ts'

/** How long a link to a file of a private order works. Whoever may read the order gets a new one with each read. */
const LINK_MS = 15 * MINUTE

/** What comes with a link to a private file. */
export interface LinkSignature {
  /** In seconds since 1970. */
  readonly expires: number
  readonly signature: string
}

/** The URL of a file without a signature, which an order stores. */
export const fileUrl = (filesUrl: string, { id, fileName }: Pick<Upload, 'id' | 'fileName'>): string =>
  `${filesUrl}/${id}/${encodeURIComponent(fileName)}`

/** The upload of a URL on the origin of files; undefined for other URLs. */
export function uploadIdIn(filesUrl: string, url: string): UploadId | undefined {
  if (!url.startsWith(`${filesUrl}/`)) return undefined
  const id = /^(upl_[0-9A-Za-z_]+)(?=[/?#]|$)/.exec(url.slice(filesUrl.length + 1))?.[1]
  return (id as UploadId | undefined) ?? 'upl_'
}

/** Signs the URL of a file, for callers who may read the order. Other URLs are returned unchanged. */
export function signFileUrl(ctx: Needs<'vault' | 'clock' | 'filesUrl'>, url: string): string {
  const id = uploadIdIn(ctx.filesUrl, url)
  if (id === undefined) return url
  const expires = Math.floor((ctx.clock.wallTime().getTime() + LINK_MS) / SECOND)
  const signature = ctx.vault.fingerprint('file_url', textOf(id, expires)).toString('base64url')
  return `${url}?expires=${expires}&signature=${signature}`
}

/** Whether we signed the link, also if it has expired since. */
export function isSignedBy({ vault }: Needs<'vault'>, id: UploadId, link: LinkSignature): boolean {
  const given = Buffer.from(link.signature, 'base64url')
  return vault
    .fingerprints('file_url', textOf(id, link.expires))
    .some((one) => one.length === given.length && timingSafeEqual(one, given))
}

export const isExpired = ({ clock }: Needs<'clock'>, { expires }: LinkSignature): boolean =>
  clock.wallTime().getTime() > expires * SECOND

const textOf = (id: UploadId, expires: number): string => `${id}:${expires}`
