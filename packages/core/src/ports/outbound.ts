export interface OutboundRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

export interface OutboundResponse {
  readonly status: number
  /** The first 64 KB of the response body. */
  readonly body: string
}

/** Requests to URLs that users choose. Resolves the host once, connects to the checked address, follows no redirects. */
export interface Outbound {
  /** Throws `invalid` for a URL that is not HTTPS or whose host does not resolve to a public address. */
  checkUrl(url: string): Promise<void>
  /** Throws `OutboundFailure` when there is no response in time or the target is forbidden. */
  post(request: OutboundRequest): Promise<OutboundResponse>
  /** Like `post`, for a document of another party. */
  get(request: Omit<OutboundRequest, 'body'>): Promise<OutboundResponse>
}

export type OutboundFailureKind = 'forbidden' | 'dns' | 'connect' | 'tls' | 'timeout' | 'closed'

export class OutboundFailure extends Error {
  override readonly name = 'OutboundFailure'
  readonly kind: OutboundFailureKind

  constructor(kind: OutboundFailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}
