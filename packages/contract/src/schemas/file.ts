import { z } from 'zod'
import { named } from '../define.ts'
import { isHttpsUrl, isShortUrl, text } from './text.ts'

const UPLOAD_ID = /^upl_[0-9A-Za-z_-]{1,500}$/

/** A file of a marketplace on this machine, which has no certificate. The API accepts only its own. */
const LOCAL_FILE = /^http:\/\/(127\.0\.0\.1|localhost)(:\d{1,5})?\/upl_[0-9A-Za-z_-]+\/[^\s\\/?#]+$/

/** What an order says of a file. The URL of another host is stored as a link, and never requested. */
export const FileLink = text({ min: 1, max: 2048 })
  .refine(
    (value) => UPLOAD_ID.test(value) || LOCAL_FILE.test(value) || isHttpsUrl(value),
    'must be the id of an upload, upl_…, or an https:// URL without a user name or password',
  )
  .refine(isShortUrl, 'must be at most 2048 bytes')
  .meta({ format: 'uri-reference', pattern: '^(upl_|[hH][tT][tT][pP][sS]?://)' })

export const Upload = named(
  'Upload',
  z.object({
    id: z.string().describe('Send it as a deliverable or a reference of an order'),
    url: z.string().describe('Anybody who knows it can read the file, unless a private order refers to it'),
    media_type: z.string().describe('By the bytes of the file; `text/plain` for text, by its extension'),
    size: z.int().describe('In bytes'),
    sha256: z.string(),
  }),
)
