import { signIn } from 'portico/sign-in'

const { env } = process

export const auth = signIn({
  // The address that browsers see. https: everywhere but on your own machine.
  origin: env.ORIGIN ?? 'http://localhost:3000',
  secrets: [env.SIGN_IN_SECRET],
  providers: {
    google: {
      // Tests set another issuer.
      issuer: env.GOOGLE_ISSUER ?? 'https://accounts.google.com',
      clientId: env.GOOGLE_CLIENT_ID,
      clientSecret: env.GOOGLE_CLIENT_SECRET,
      scope: 'openid email profile',
    },
  },
  // Runs once for each sign-in. The session keeps what it returns, as identity.data.
  onSignIn: ({ email, emailVerified }) => {
    const isAdmin = emailVerified === true && email === env.ADMIN_EMAIL
    return { role: isAdmin ? 'admin' : 'reader' }
  },
})
