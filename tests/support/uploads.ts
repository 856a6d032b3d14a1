import type { Reply, RequestOptions } from './client.ts'
import type { Market } from './market.ts'
import { formOf } from './operation-request.ts'

export interface UploadedFile {
  readonly id: string
  readonly url: string
  readonly media_type: string
  readonly size: number
  readonly sha256: string
}

/** A PNG of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

type Content = string | Uint8Array<ArrayBuffer>

/** Sends a file as a browser does. */
export const sendFile = (
  market: Pick<Market, 'client'>,
  ask: RequestOptions,
  content: Content = PNG as Uint8Array<ArrayBuffer>,
  name = 'picture.png',
): Promise<Reply> => market.client().post('/api/upload', formOf(content, name), ask)

/** Uploads a file that is accepted. */
export async function uploadFile(
  market: Pick<Market, 'client'>,
  ask: RequestOptions,
  content?: Content,
  name?: string,
): Promise<UploadedFile> {
  const reply = await sendFile(market, ask, content, name)
  if (reply.status !== 201) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body.data as UploadedFile
}

export const BOUNDARY = 'boundary-of-the-test'

/** The head of the only part of a form. */
export const partHead = (name: string, type = 'application/octet-stream', field = 'file'): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`

export const FORM_END = `\r\n--${BOUNDARY}--\r\n`

/** The head of an HTTP request that uploads a form. */
export const requestHead = (apiKey: string, length: number | 'chunked', from: string): string =>
  [
    'POST /api/upload HTTP/1.1',
    'Host: market.test',
    'Connection: close',
    `X-Forwarded-For: ${from}`,
    `Authorization: Bearer ${apiKey}`,
    `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
    length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n')
