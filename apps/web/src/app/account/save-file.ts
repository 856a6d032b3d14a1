/** By then the browser has read it. */
const STORED_MS = 60_000

/** Gives the browser a text to store as a file. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), STORED_MS)
}
