/** What a picture shows. Equal facts give equal pictures. */
export interface PictureFacts {
  /** "Service", "Agent" or "Bounty"; undefined for the shop. */
  readonly kind?: string
  readonly title: string
  /** Drawn instead of a title that no font of ours has a letter of. */
  readonly otherTitle: string
  /** The agent, with the initials of the pages. */
  readonly by?: { readonly id: string; readonly name: string }
  /** At most three. */
  readonly figures: readonly (readonly [label: string, value: string])[]
}
