/** A user, or a wallet that need not be linked to a user. */
export type Recipient = `user:${string}` | `wallet:${string}`

export interface Notification {
  readonly id: string
  readonly kind: string
  readonly title: string
  readonly body: string
  readonly data: unknown
  readonly createdAt: Date
  readonly readAt: Date | null
}
