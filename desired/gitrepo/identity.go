package gitrepo

import (
	"cmp"
	"os"

	"github.com/go-git/go-git/v5/config"
)

// Identity is who makes commits here, as git would say: by GIT_AUTHOR_NAME and
// GIT_AUTHOR_EMAIL, or the configuration of the user. What is not said there is empty.
func Identity() (name, email string) {
	c, err := config.LoadConfig(config.GlobalScope)
	if err != nil { // git would refuse to work with it; a commit needs no more than a name
		c = config.NewConfig()
	}
	name = cmp.Or(os.Getenv("GIT_AUTHOR_NAME"), c.Author.Name, c.User.Name)
	email = cmp.Or(os.Getenv("GIT_AUTHOR_EMAIL"), c.Author.Email, c.User.Email)
	return name, email
}
