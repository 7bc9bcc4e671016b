import { defineController, HttpError, post } from 'portico'

const themes = ['light', 'dark']

export default defineController({
  // POST /settings/theme with a form that has the field "theme"
  theme: post((request, response) => {
    const theme = request.form.get('theme') ?? ''
    if (!themes.includes(theme)) throw new HttpError(400, 'The theme is "light" or "dark"')
    response.cookies.set('theme', theme, { maxAgeSeconds: 31_536_000 })
    return response.redirect('/notes', 303)
  }),
})
