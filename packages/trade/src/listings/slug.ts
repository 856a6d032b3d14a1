/** Leaves room for a number behind it. */
const LENGTH = 80

/** Lower-case words of the title joined by hyphens; a title in another script keeps its own letters. */
export function slugOf(title: string): string {
  const slug = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
  const short = [...slug]
    .slice(0, LENGTH)
    .join('')
    .replace(/^-+|-+$/g, '')
  return short === '' ? 'service' : short
}
