/** What an order may say beside what is to be done; the other doors have no words for it. */
export interface OrderExtras {
  readonly referenceUrls: readonly string[]
  readonly referenceImages: readonly string[]
  readonly isPrivate: boolean
}

/** Nothing, where nothing was said: such a request is stored and compared like one of any other door. */
export const saidIn = (extras: OrderExtras | undefined): OrderExtras | undefined =>
  extras && (extras.referenceUrls.length > 0 || extras.referenceImages.length > 0 || extras.isPrivate)
    ? extras
    : undefined
