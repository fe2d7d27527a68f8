int mylib_open(void);

int main(void)
{
    return mylib_open();
}
