/** Adds a button to each program of a page, which copies it. Without script the program is there all the same. */
export const COPY_SCRIPT = `for (const box of document.querySelectorAll('.code-box')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(box.querySelector('code').textContent.trimEnd())
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 1500)
  })
  box.append(button)
}
`
