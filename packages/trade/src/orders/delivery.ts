/** One thing that was made: an address, or text and code themselves. */
export interface Deliverable {
  readonly type: 'image' | 'video' | 'link' | 'document' | 'code' | 'text'
  readonly url?: string | undefined
  readonly content?: string | undefined
  readonly media_type?: string | undefined
  readonly sha256?: string | undefined
  readonly title?: string | undefined
}

export interface Delivery {
  readonly n: number
  readonly note: string | null
  readonly items: readonly Deliverable[]
  readonly at: Date
}
