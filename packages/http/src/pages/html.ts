/** Text that is already HTML. */
export interface Html {
  readonly html: string
}

type Part = string | number | Html | undefined | readonly Html[]

/** HTML in which every value is escaped, except values that are HTML themselves. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  html: texts.map((text, n) => `${text}${n < parts.length ? render(parts[n]) : ''}`).join(''),
})

function render(part: Part): string {
  if (part === undefined) return ''
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return 'html' in part ? part.html : part.map((one) => one.html).join('')
}

const escaped = (text: string): string => text.replace(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`)
