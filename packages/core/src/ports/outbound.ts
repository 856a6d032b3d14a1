export interface OutboundRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

export interface OutboundResponse {
  readonly status: number
  /** At most 64 KB of what came back. */
  readonly body: string
}

/** The one way out to addresses that users choose. Resolves once, connects to the checked address, follows no redirect. */
export interface Outbound {
  /** Rejects (`invalid`) a URL that is not public HTTPS, by its form and by what its name resolves to now. */
  check(url: string): Promise<void>
  /** Throws `OutboundFailure` when no answer came back in time or the target is forbidden. */
  post(request: OutboundRequest): Promise<OutboundResponse>
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
