import type { Deliverable } from '@market/trade/orders'

type DeliverableType = Deliverable['type']

/** The first match decides: by the media type, or else by the extension of the URL. */
const TYPES: readonly {
  readonly type: DeliverableType
  readonly media: RegExp
  readonly extension: RegExp
}[] = [
  { type: 'image', media: /^image\//, extension: /^(jpe?g|png|webp|gif|svg|avif)$/ },
  { type: 'video', media: /^video\//, extension: /^(mp4|webm|mov)$/ },
  {
    type: 'code',
    media: /^(text\/x-|text\/javascript$|application\/(javascript|json|x-sh|sql|typescript)$)/,
    extension: /^(c|cpp|cs|css|go|java|js|json|jsx|kt|php|py|rb|rs|sh|sol|sql|swift|ts|tsx)$/,
  },
  { type: 'text', media: /^text\/(plain|markdown)$/, extension: /^(txt|md)$/ },
  {
    type: 'document',
    media: /^(text\/(csv|rtf)$|application\/(pdf|msword|rtf|epub\+zip|vnd\.(ms-|oasis|openxmlformats)))/,
    extension: /^(pdf|docx?|xlsx?|pptx?|odt|ods|odp|rtf|csv|epub)$/,
  },
]

/** The type of a deliverable that is given as one URL. */
export function typeOfUrl(url: string, mediaType: string | undefined): DeliverableType {
  const extension = /\.(\w{1,5})$/.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? ''
  // fix: type-by-extension
  const found = TYPES.find((one) =>
    mediaType === undefined ? one.extension.test(extension) : one.media.test(mediaType),
  )
  return found?.type ?? 'link'
}
