import type { Operation } from '@market/contract/define'
import type { AppServices } from './app-services.ts'
import type { ApiResponse, Call } from './call.ts'
import { type CachedDocument, documentOf } from './x402/cached-document.ts'

/** How many bytes of shared responses one process keeps. */
export const SHARED_READS_BYTES = 32 * 1024 * 1024

/** Of an entry of the cache, beside its key and its JSON. */
const ENTRY_BYTES = 500

/** Also of a response that is still being read, of which only the key is known. */
export const bytesOfShared = (key: string, response: ApiResponse | undefined): number =>
  ENTRY_BYTES + 2 * key.length + (response?.json?.length ?? 0)

/** Whether the response is the same for everybody. A transport with a budget of its own gets other pages. */
export const isShared = (call: Call): boolean =>
  call.operation.cacheSeconds !== undefined && call.budget === undefined && !hasCredential(call)

/** Valid or not, and also where the operation ignores it: whoever sends one sees what it wrote. */
// fix: own-writes
const hasCredential = ({ credentials, caller }: Call): boolean =>
  caller !== undefined || Object.keys(credentials).length > 0

/** The response to this input, which requests within a second share. An error is not kept. */
export const sharedRead = (
  { sharedReads }: Pick<AppServices, 'sharedReads'>,
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  read: () => Promise<ApiResponse>,
): Promise<ApiResponse> =>
  sharedReads(`${operation.id} ${JSON.stringify(input)}`, async () => {
    const response = await read()
    if (response.shared !== undefined) return response
    return sharedResponse(operation, documentOf(Buffer.from(response.json ?? JSON.stringify(response.body))))
  })

export const sharedResponse = (
  { cacheSeconds = 0 }: Operation,
  { json, etag }: CachedDocument,
): ApiResponse => ({ status: 200, body: null, json, headers: {}, shared: { etag, seconds: cacheSeconds } })

/** The response to a caller with a credential, which no cache keeps. */
export const unshared = ({ shared: _, ...response }: ApiResponse): ApiResponse => response
