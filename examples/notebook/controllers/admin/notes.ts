import { defineController, post } from 'portico'
import { notes } from '../../notes.ts'

export default defineController({
  // POST /admin/notes/clear
  clear: post((_request, response) => {
    notes.clear()
    return response.redirect('/notes', 303)
  }),
})
